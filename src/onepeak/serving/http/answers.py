"""The responses of the server, as described in OpenAPI."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_MODEL_ID = "The model: the first 12 hex digits of the SHA-256 of its model.safetensors; null without a file."


class Problem(BaseModel):
    """Why something was not answered."""

    code: str = Field(description="A short code for programs, such as too_large.")
    message: str = Field(description="A sentence for people.")


class Failure(BaseModel):
    """The answer to a request that failed."""

    error: Problem = Field(description="What is wrong, and how to fix it.")


class Reading(BaseModel):
    """What a prediction says."""

    headline: str = Field(
        description="What may be acted on: the class if the interval holds no other, otherwise between which it lies."
    )
    predicted_class: str = Field(description="The predicted class.")
    predicted_index: int = Field(description="Its position in `classes`, from 0.")
    name: str = Field(description="The former name of predicted_class.")
    label: int = Field(description="The former name of predicted_index.")
    action: str | None = Field(
        description="What to do, if the server was given actions (--actions); else null. Where the interval holds "
        "several classes, the action of the highest or the lowest, or to ask a person (--unsure)."
    )
    probs: list[float] = Field(description="The posterior: one probability per class, in the order of `classes`.")
    log_probs: list[float | None] = Field(description="Its logarithms; null where the probability is zero.")
    soi: float = Field(description="Side order index: the share of adjacent classes that fall away from the label.")
    unimodal: bool = Field(description="Whether the posterior has one peak.")
    paradoxical: bool = Field(description="Whether the second most probable class is not adjacent to the first.")
    unlike: list[str] | None = Field(
        description="How the image or row differs from the training data; do not rely on such a prediction: "
        "brightness, contrast, grain, redness or yellowness, or columns with numbers far outside the training's range "
        "or with new names; features if the distance is above 1. Empty if it is usual; null if the model cannot tell."
    )
    distance: float | None = Field(
        description="How far the image lies from those of the training in the network's own features; 19 in 20 usual "
        "images lie within 1. Null if the model does not know."
    )
    refer: str | None = Field(
        description="Why a person should be asked, by the model's policy (onepeak refer); null if not, or without one."
    )
    interval: tuple[int, int] | None = Field(
        description="The lowest and the highest label of an interval that contains the true label for a share of "
        "1 - alpha of all samples; null if the model has no intervals."
    )
    interval_names: tuple[str, str] | None = Field(description="The names of the classes at both ends.")


class Answer(Reading):
    """The prediction for one image or row."""

    item: int = Field(description="The position in the request, from 0.")
    file: str | None = Field(description="The name of the file, if it was sent with one.")
    evidence: list[list[float]] | None = Field(
        description="With evidence=true, where in the image the class comes from: rows of numbers from top to "
        "bottom, more for stronger evidence, to be laid over the image. Each is the score of the class at its position "
        "less the mean score of all classes there, below zero where others have more; of a method without scores, its "
        "log-probability there."
    )


class GroupAnswer(Reading):
    """The prediction for one group, such as a patient with several images."""

    group: str = Field(description="Its name: of the form's field, or in the rows.")
    items: list[int] = Field(description="The positions of its samples that have a prediction.")


class FailedItem(BaseModel):
    """An image without a prediction, among others that have one."""

    item: int = Field(description="The position in the request, from 0.")
    file: str | None = Field(description="The name of the file, if it was sent with one.")
    error: Problem = Field(description="Why there is no prediction for this sample.")


class PredictResponse(BaseModel):
    """One entry per image or row, in the order in which they were sent."""

    model_config = ConfigDict(protected_namespaces=())  # some versions of pydantic reserve `model_`

    model_id: str | None = Field(description=_MODEL_ID)
    classes: list[str] = Field(description="The classes in their order.")
    alpha: float | None = Field(description="The share of samples whose interval may miss the true class.")
    notes: list[str] = Field(description="What the user should know about these predictions.")
    predictions: list[Answer | FailedItem] = Field(description="A prediction, or why there is none, for every sample.")
    groups: list[GroupAnswer] | None = Field(
        description="With combine, one prediction for each group that has any, in the order in which groups come; else "
        "null."
    )


class ColumnCard(BaseModel):
    """A column of the table that the model reads."""

    name: str = Field(description="The column's name, as rows must give it.")
    kind: Literal["number", "category", "text"] = Field(description="Whether its values are numbers, names or texts.")
    categories: list[str] | None = Field(description="The names that the model knows, for a category.")


class ImageCard(BaseModel):
    """How an image is prepared for the network."""

    formats: list[str] = Field(description="The file formats that can be read.")
    short_side: int | None = Field(description="Pixels that the shorter side is resized to; null keeps the size.")
    only_enlarge: bool = Field(description="Whether larger images keep their size.")
    scale: float = Field(description="A factor on both sides, applied after that.")
    bits: int | None = Field(description="Bits used in 16-bit images; null for all 16.")
    max_pixels: int = Field(description="Images with more pixels than this are refused.")
    max_network_pixels: int = Field(description="Images with more pixels than this after resizing are refused.")
    max_items: int = Field(description="The most images in one request.")


class CalibrationCard(BaseModel):
    """How posteriors and intervals are calibrated on validation samples."""

    model_config = ConfigDict(from_attributes=True)

    temperature: float = Field(description="What scores are divided by; above 1 makes posteriors less confident.")
    num_samples: int = Field(description="The number of samples it was learnt from.")
    smallest_alpha: float = Field(description="The smallest alpha that this number of samples allows.")


class ReadingCard(BaseModel):
    """How the server reads posteriors; a request may change everything but the costs."""

    alpha: float | None = Field(
        description="The share of samples whose interval may miss the true class; null without intervals."
    )
    decide: str | None = Field(
        description="How the label follows from the posterior: mode, median, mean, cost or another rule; null for the "
        "method's own decision."
    )
    cost: list[list[float]] | None = Field(
        description="For the decision cost: what each mistake costs, one row per true class, one column per class "
        "decided on."
    )
    project: bool = Field(description="Whether posteriors are the nearest ones with one peak.")
    raw: bool = Field(description="Whether posteriors are as the network gives them, not calibrated.")


class ModelCard(BaseModel):
    """A description of the server's model."""

    model_config = ConfigDict(protected_namespaces=())

    model_id: str | None = Field(description=_MODEL_ID)
    classes: list[str] = Field(description="The classes in their order.")
    method: str = Field(description="The ordinal method, by its name in onepeak's catalog.")
    variant: str = Field(description="corrected, or as_published for what the code behind the paper computes.")
    backbone: str = Field(description="The network below the method.")
    input: Literal["pictures", "rows"] = Field(description="What POST /v1/predict takes.")
    columns: list[ColumnCard] | None = Field(description="For rows: the columns that each row must have.")
    max_rows: int | None = Field(description="For rows: the most rows in one request.")
    pictures: ImageCard | None = Field(description="For images: how they are prepared.")
    calibration: CalibrationCard | None = Field(description="Null for a model from an earlier version.")
    reading: ReadingCard = Field(description="How posteriors are read if a request does not say otherwise.")
    evidence: bool = Field(description="Whether predictions can include an evidence map.")
    evidence_range: tuple[float, float] | None = Field(
        description="The scale of every evidence map: the value to draw as nothing, which is the evidence for a class "
        "that has no more than others, and the value to draw brightest, which the predicted class reaches at its "
        "highest position in the strongest tenth of some validation images, or 1 more than the first. Null for a model "
        "from an earlier version, and without maps."
    )
    data: str = Field(description="The data that the model was trained on.")
    version: str = Field(description="The version of onepeak that serves it.")
