"""What the server answers with, as its OpenAPI description tells it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_MODEL_ID = "Which model answers: the first 12 hex digits of the SHA-256 of its model.safetensors; null without a file."


class Problem(BaseModel):
    """Why something was not answered."""

    code: str = Field(description="A word for programs, such as too_large.")
    message: str = Field(description="A sentence for people.")


class Failure(BaseModel):
    """The answer to a request that failed."""

    error: Problem = Field(description="What is wrong, and what to do.")


class Answer(BaseModel):
    """What the model says of one image or row."""

    item: int = Field(description="The position in the request, from 0.")
    file: str | None = Field(description="The name of the file, if it was sent with one.")
    label: int = Field(description="The class decided on: its position in `classes`, from 0.")
    name: str = Field(description="What that class is called.")
    action: str | None = Field(
        description="What to do for that class, of a server that was told so (--actions); else null."
    )
    probs: list[float] = Field(description="The posterior: one probability per class, in the order of `classes`.")
    log_probs: list[float | None] = Field(description="Its logarithms; null where the probability is zero.")
    soi: float = Field(description="Side order index: the share of adjacent classes that fall away from the label.")
    unimodal: bool = Field(description="Whether the posterior has one peak.")
    paradoxical: bool = Field(description="Whether the second most probable class is no neighbour of the first.")
    unlike: list[str] | None = Field(
        description="By what the image or row is unlike those of the training, so that the answer may mean nothing: "
        "brightness, contrast, grain, redness or yellowness, or columns with numbers far outside or names that are "
        "new. Empty where it is usual; null where the model cannot tell."
    )
    interval: tuple[int, int] | None = Field(
        description="The lowest and the highest label of an interval that holds the true one in a share of 1 - alpha "
        "of all items; null where the model has no intervals."
    )
    interval_names: tuple[str, str] | None = Field(description="What the classes at both ends are called.")
    evidence: list[list[float]] | None = Field(
        description="With evidence=true, where in the image the class comes from: rows of numbers from top to "
        "bottom, more for stronger evidence, to be laid over the image. Each is the score of the class at its place "
        "less the mean score of all classes there, below zero where others have more; of a method without scores, its "
        "log-probability there."
    )


class FailedItem(BaseModel):
    """An image that could not be answered, among others that could."""

    item: int = Field(description="The position in the request, from 0.")
    file: str | None = Field(description="The name of the file, if it was sent with one.")
    error: Problem = Field(description="Why there is no answer to this one.")


class Predictions(BaseModel):
    """One entry per image or row, in the order in which they were sent."""

    model_config = ConfigDict(protected_namespaces=())  # some versions of pydantic keep `model_` to themselves

    model_id: str | None = Field(description=_MODEL_ID)
    classes: list[str] = Field(description="The classes in their order.")
    alpha: float | None = Field(description="The share of items whose interval may miss the true class.")
    notes: list[str] = Field(description="What the user should know of these answers.")
    predictions: list[Answer | FailedItem] = Field(description="An answer, or why there is none, for every item.")


class ColumnCard(BaseModel):
    """A column of the table that the model reads."""

    name: str = Field(description="As rows must call it.")
    kind: Literal["number", "category"] = Field(description="Whether its values are numbers or names.")
    categories: list[str] | None = Field(description="The names that the model knows, of a category.")


class PictureCard(BaseModel):
    """What happens to an image before the network sees it."""

    formats: list[str] = Field(description="Kinds of files that can be read.")
    short_side: int | None = Field(description="Pixels that the shorter side is resized to; null leaves it.")
    only_enlarge: bool = Field(description="Whether larger images are left at their size.")
    scale: float = Field(description="A factor on both sides, after that.")
    bits: int | None = Field(description="Bits that 16-bit images hold; null for all 16.")
    max_pixels: int = Field(description="More pixels than this are refused.")
    max_network_pixels: int = Field(description="More pixels than this after resizing are refused.")
    max_items: int = Field(description="Pictures in one request.")


class CalibrationCard(BaseModel):
    """How posteriors are made as sure as they are right, and intervals as wide as they need to be."""

    temperature: float = Field(description="What scores are divided by; above 1 makes posteriors less sure.")
    num_samples: int = Field(description="That it was learnt from.")
    smallest_alpha: float = Field(description="The smallest alpha that so many samples allow.")


class ReadingCard(BaseModel):
    """How the server makes answers of posteriors; a request may say otherwise of all but the costs."""

    alpha: float | None = Field(
        description="The share of items whose interval may miss the true class, if any has one."
    )
    decide: str | None = Field(
        description="How the label follows from the posterior: mode, median, mean, cost or another rule; null for the "
        "method's own way."
    )
    cost: list[list[float]] | None = Field(
        description="For the decision cost: what each mistake costs, one row per true class, one column per class "
        "decided on."
    )
    project: bool = Field(description="Whether posteriors are the nearest ones with one peak.")
    raw: bool = Field(description="Whether posteriors are as the network gives them, not calibrated.")


class ModelCard(BaseModel):
    """What the server's model is."""

    model_config = ConfigDict(protected_namespaces=())

    model_id: str | None = Field(description=_MODEL_ID)
    classes: list[str] = Field(description="The classes in their order.")
    method: str = Field(description="The ordinal method, by its name in onepeak's catalog.")
    variant: str = Field(description="corrected, or as_published for what the code behind the paper computes.")
    backbone: str = Field(description="The network below the method.")
    input: Literal["pictures", "rows"] = Field(description="What POST /v1/predict takes.")
    columns: list[ColumnCard] | None = Field(description="For rows: what each must have.")
    max_rows: int | None = Field(description="For rows: how many a request may hold.")
    pictures: PictureCard | None = Field(description="For images: how they are handled.")
    calibration: CalibrationCard | None = Field(description="Null for a model of an earlier version.")
    reading: ReadingCard = Field(description="How answers are made where a request does not say.")
    evidence: bool = Field(description="Whether predictions can come with a map of evidence.")
    evidence_range: tuple[float, float] | None = Field(
        description="What to draw as nothing and what as brightest on every such map: the evidence for a class that "
        "has no more than others, and what the predicted class has at its highest place in the strongest tenth of "
        "some validation images, or 1 more than the first. Null for a model of an earlier version, and without maps."
    )
    data: str = Field(description="What the model was trained on.")
    version: str = Field(description="Of onepeak, that serves it.")
