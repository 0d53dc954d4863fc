"""Methods that ask, for each level k, whether the label is above it."""

from onepeak.methods.condor import Condor
from onepeak.methods.coral import Coral
from onepeak.methods.corn import Corn
from onepeak.methods.cumulative_link import clm, clm_cloglog, clm_probit
from onepeak.methods.ecoc import CodeWords
from onepeak.methods.level_questions import frank_hall, or_cnn
from onepeak.methods.record import MethodRecord

LEVEL_METHODS = (
    MethodRecord(
        name="clm",
        title="cumulative link, logit (proportional odds)",
        family="levels",
        reference="McCullagh 1980, Regression models for ordinal data",
        year=1980,
        num_outputs="1",
        build=clm,
    ),
    MethodRecord(
        name="clm-probit",
        title="cumulative link, probit",
        family="levels",
        reference="McCullagh 1980, Regression models for ordinal data",
        year=1980,
        num_outputs="1",
        build=clm_probit,
    ),
    MethodRecord(
        name="clm-cloglog",
        title="cumulative link, complementary log-log",
        family="levels",
        reference="McCullagh 1980, Regression models for ordinal data",
        year=1980,
        num_outputs="1",
        build=clm_cloglog,
    ),
    MethodRecord(
        name="frank-hall",
        title="one question per level, most probable class",
        family="levels",
        reference="Frank, Hall 2001, A simple approach to ordinal classification",
        year=2001,
        num_outputs="c-1",
        build=frank_hall,
    ),
    MethodRecord(
        name="or-cnn",
        title="one question per level, first answered no",
        family="levels",
        reference="Niu et al. 2016, Ordinal regression with multiple output CNN for age estimation",
        year=2016,
        num_outputs="c-1",
        build=or_cnn,
    ),
    MethodRecord(
        name="coral",
        title="levels with one score",
        family="levels",
        reference="Cao, Mirjalili, Raschka 2020, Rank consistent ordinal regression for neural networks",
        year=2020,
        num_outputs="1",
        build=Coral,
    ),
    MethodRecord(
        name="corn",
        title="conditional levels",
        family="levels",
        reference="Shi, Cao, Raschka 2021, Deep neural networks for rank-consistent ordinal regression",
        year=2021,
        num_outputs="c-1",
        build=Corn,
    ),
    MethodRecord(
        name="condor",
        title="conditional levels, loss on their products",
        family="levels",
        reference="Jenkinson et al. 2021, Universally rank consistent ordinal regression in neural networks",
        year=2021,
        num_outputs="c-1",
        build=Condor,
    ),
    MethodRecord(
        name="ecoc",
        title="levels as code words",
        family="levels",
        reference="Barbero-Gómez et al. 2022, Error-correcting output codes in deep ordinal classification",
        year=2022,
        num_outputs="c-1",
        build=CodeWords,
    ),
)
