"""Methods whose posterior has a given form, most of them with one peak."""

from onepeak.methods.binomial import Binomial
from onepeak.methods.copoc import Copoc
from onepeak.methods.gaussian import Gaussian
from onepeak.methods.poisson_rate import PoissonRate
from onepeak.methods.record import MethodRecord
from onepeak.methods.stick_breaking import StickBreaking
from onepeak.methods.unimodal_net import UnimodalNet

DISTRIBUTION_METHODS = (
    MethodRecord(
        name="binomial",
        title="binomial, learnt temperature",
        family="distribution",
        reference="da Costa, Alonso, Cardoso 2008, The unimodal model for the classification of ordinal data",
        year=2008,
        num_outputs="1",
        unimodal=True,
        build=Binomial,
    ),
    MethodRecord(
        name="poisson",
        title="Poisson, learnt temperature",
        family="distribution",
        reference="Beckham, Pal 2017, Unimodal probability distributions for deep ordinal classification",
        year=2017,
        num_outputs="1",
        unimodal=True,
        build=PoissonRate,
    ),
    MethodRecord(
        name="stick-breaking",
        title="stick-breaking",
        family="distribution",
        reference="Liu et al. 2018, Ordinal regression with neuron stick-breaking for medical diagnosis",
        year=2018,
        num_outputs="c-1",
        build=StickBreaking,
    ),
    MethodRecord(
        name="gaussian",
        title="Gaussian uncertainty",
        family="distribution",
        reference="Araújo et al. 2020, DR|GRADUATE: uncertainty-aware diabetic retinopathy grading",
        year=2020,
        num_outputs="2",
        unimodal=True,
        build=Gaussian,
    ),
    MethodRecord(
        name="copoc",
        title="steps around a peak",
        family="distribution",
        reference="Dey, Merugu, Kaveri 2023, Conformal prediction sets for ordinal classification",
        year=2023,
        num_outputs="c",
        unimodal=True,
        build=Copoc,
    ),
    MethodRecord(
        name="unimodal-net",
        title="lower of two running sums",
        family="distribution",
        reference="Cardoso, Cruz, Albuquerque 2023, Unimodal distributions for ordinal regression",
        year=2023,
        num_outputs="c",
        unimodal=True,
        build=UnimodalNet,
    ),
)
