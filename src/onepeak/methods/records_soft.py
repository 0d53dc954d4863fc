"""Methods that learn a distribution around the label."""

from onepeak.methods.dldl_v2 import DistributionAndMean
from onepeak.methods.record import MethodRecord
from onepeak.methods.soft_by_count import binomial_labels, poisson_labels
from onepeak.methods.soft_by_distance import exponential, geometric, inverse_distance, sord
from onepeak.methods.soft_by_interval import beta, triangular

SOFT_LABEL_METHODS = (
    MethodRecord(
        name="dldl-v2",
        title="label distribution and its mean",
        family="soft-labels",
        reference="Gao et al. 2018, Age estimation using expectation of label distribution learning",
        year=2018,
        num_outputs="c",
        build=DistributionAndMean,
    ),
    MethodRecord(
        name="sord",
        title="soft labels by distance",
        family="soft-labels",
        reference="Díaz, Marathe 2019, Soft labels for ordinal regression",
        year=2019,
        num_outputs="c",
        build=sord,
    ),
    MethodRecord(
        name="soft-exponential",
        title="exponential soft labels",
        family="soft-labels",
        reference="Vargas et al. 2023, Exponential loss regularisation for encouraging ordinal constraint",
        year=2023,
        num_outputs="c",
        build=exponential,
    ),
    MethodRecord(
        name="soft-geometric",
        title="geometric soft labels",
        family="soft-labels",
        reference="Haas, Hüllermeier 2023, Rectifying bias in ordinal data using unimodal label smoothing",
        year=2023,
        num_outputs="c",
        build=geometric,
    ),
    MethodRecord(
        name="soft-inverse",
        title="label smoothing by inverse distance",
        family="soft-labels",
        reference="after Szegedy et al. 2016, Rethinking the inception architecture for computer vision",
        year=2016,
        num_outputs="c",
        build=inverse_distance,
    ),
    MethodRecord(
        name="soft-triangular",
        title="triangular soft labels",
        family="soft-labels",
        reference="Vargas et al. 2023, Soft labelling based on triangular distributions for ordinal classification",
        year=2023,
        num_outputs="c",
        build=triangular,
    ),
    MethodRecord(
        name="soft-beta",
        title="beta soft labels",
        family="soft-labels",
        reference="Vargas et al. 2022, Unimodal regularisation based on beta distribution for deep ordinal regression",
        year=2022,
        num_outputs="c",
        build=beta,
    ),
    MethodRecord(
        name="soft-binomial",
        title="binomial soft labels",
        family="soft-labels",
        reference="Liu et al. 2020, Unimodal regularized neuron stick-breaking for ordinal classification",
        year=2020,
        num_outputs="c",
        build=binomial_labels,
    ),
    MethodRecord(
        name="soft-poisson",
        title="Poisson soft labels",
        family="soft-labels",
        reference="Liu et al. 2020, Unimodal regularized neuron stick-breaking for ordinal classification",
        year=2020,
        num_outputs="c",
        build=poisson_labels,
    ),
)
