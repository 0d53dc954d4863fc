"""Methods that use the distance of each class from the label."""

from onepeak.methods.class_distance import ClassDistance, ordinal_log_loss
from onepeak.methods.expected_error import ExpectedError
from onepeak.methods.kappa import WeightedKappa
from onepeak.methods.neighbours import co2, ho2
from onepeak.methods.quasi_unimodal import QuasiUnimodal
from onepeak.methods.record import MethodRecord
from onepeak.methods.regression import Regression
from onepeak.methods.rps import RankedProbability
from onepeak.methods.slace import Slace
from onepeak.methods.unimodal_concentrated import UnimodalConcentrated

DISTANCE_METHODS = (
    MethodRecord(
        name="rps",
        title="ranked probability score",
        family="distance",
        reference="Hou, Yu, Samaras 2016, Squared earth mover's distance-based loss for training deep neural networks",
        year=2016,
        num_outputs="c",
        build=RankedProbability,
    ),
    MethodRecord(
        name="cdw-ce",
        title="class distance weighted cross-entropy",
        family="distance",
        reference="Polat et al. 2022, Class distance weighted cross-entropy loss",
        year=2022,
        num_outputs="c",
        build=ClassDistance,
    ),
    MethodRecord(
        name="oll",
        title="ordinal log loss",
        family="distance",
        reference="Castagnos, Mihelich, Dognin 2022, A simple log-based loss function for ordinal text classification",
        year=2022,
        num_outputs="c",
        build=ordinal_log_loss,
    ),
    MethodRecord(
        name="wk",
        title="weighted kappa of the batch",
        family="distance",
        reference="de la Torre, Puig, Valls 2018, Weighted kappa loss function for ordinal data in deep learning",
        year=2018,
        num_outputs="c",
        build=WeightedKappa,
    ),
    MethodRecord(
        name="slace",
        title="soft labels, accumulated",
        family="distance",
        reference="Nachmani et al. 2025, SLACE: a monotone and balance-sensitive loss function for ordinal regression",
        year=2025,
        num_outputs="c",
        build=Slace,
    ),
    MethodRecord(
        name="co2",
        title="cross-entropy and ordered neighbours",
        family="distance",
        reference="Albuquerque, Cruz, Cardoso 2021, Ordinal losses for classification of cervical cancer risk",
        year=2021,
        num_outputs="c",
        build=co2,
    ),
    MethodRecord(
        name="ho2",
        title="entropy and ordered neighbours",
        family="distance",
        reference="Albuquerque, Cruz, Cardoso 2021, Ordinal losses for classification of cervical cancer risk",
        year=2021,
        num_outputs="c",
        build=ho2,
    ),
    MethodRecord(
        name="qul",
        title="quasi-unimodal",
        family="distance",
        reference="Albuquerque, Cruz, Cardoso 2022, Quasi-unimodal distributions for ordinal classification",
        year=2022,
        num_outputs="c",
        build=QuasiUnimodal,
    ),
    MethodRecord(
        name="uc",
        title="unimodal-concentrated",
        family="distance",
        reference="Li et al. 2022, Unimodal-concentrated loss for ordinal regression",
        year=2022,
        num_outputs="c",
        build=UnimodalConcentrated,
    ),
    MethodRecord(
        name="se",
        title="squared error of the mean",
        family="distance",
        reference="Beckham, Pal 2016, A simple squared-error reformulation for ordinal classification",
        year=2016,
        num_outputs="c",
        build=ExpectedError,
    ),
    MethodRecord(
        name="regression",
        title="regression, rounded",
        family="distance",
        reference="the baseline that treats classes as numbers",
        year=None,
        num_outputs="1",
        unimodal=True,
        build=Regression,
    ),
)
