// An image with its evidence map on top, at the slider's opacity, and the scale of the map.
import {byId, element} from "./page.js";

/** Shows the image. `evidence` is an element to lay over it, or null if there is none, drawn between the `ends` of its scale.
    `noEvidence` is called if the map does not load, `noImage` if the browser cannot show the image; an evidence canvas is then
    shown on a plain background instead. */
export function showImage(image, evidence, name, {ends, noEvidence, noImage} = {}) {
  const place = byId("seen"), control = byId("overlay-control"), slider = byId("opacity"), scale = byId("scale");
  const strength = () => { for (const drawn of [evidence, scale.querySelector("i")]) if (drawn) drawn.style.opacity = slider.value / 100; };
  control.hidden = !evidence;
  showScale(scale, ends);
  slider.oninput = strength;
  strength();
  evidence?.classList.add("evidence");
  if (evidence) evidence.onerror = () => {
    if (!evidence.isConnected) return; // another method is shown by now
    control.hidden = true;
    evidence.remove();
    noEvidence?.();
  };
  const shown = element("img", {src: image, alt: `The image: ${name}`}), frame = element("div", {class: "image"}, shown, evidence);
  if (noImage) shown.onerror = () => {
    if (!shown.isConnected) return; // another image is shown by now
    shown.remove();
    if (evidence) {
      frame.classList.add("ground");
      frame.style.aspectRatio = `${evidence.width} / ${evidence.height}`;
    } else frame.remove();
    noImage();
  };
  place.replaceChildren(frame);
}

/** Shows the ends of the scale that all images and classes of a model share, or that there is none. */
function showScale(place, ends) {
  const [low, high] = (ends ?? []).map(value => String(Number(value.toPrecision(3))).replace("-", "−"));
  place.replaceChildren(...(ends ? [low, element("span", {class: "ramp", "aria-hidden": "true"}, element("i")), `${high} and more`] : []));
  byId("scale-note").textContent = ends
    ? `One scale for all images and classes of this model: at ${low} the class has no more evidence than others; about a tenth of the validation images reach ${high}. Brighter is more.`
    : "Brighter is more, from the lowest to the highest value of this map alone: do not compare it with others. The model is from an earlier version; a newly trained one has one scale for all maps.";
}

// Five colours of viridis: their lightness rises evenly, so that they read without colour vision too.
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** Rows of numbers as a canvas: colour and opacity rise with the evidence between the ends of the scale, by default its own. */
export function evidenceCanvas(rows, ends) {
  const values = rows.flat(), [low, high] = ends ?? [Math.min(...values), Math.max(...values)];
  const canvas = element("canvas", {width: rows[0].length, height: rows.length}), context = canvas.getContext("2d");
  const pixels = context.createImageData(rows[0].length, rows.length);
  values.forEach((value, place) => {
    const strength = high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0;
    const at = strength * (COLOURS.length - 1), step = Math.min(Math.floor(at), COLOURS.length - 2);
    COLOURS[step].forEach((part, channel) => { pixels.data[4 * place + channel] = part + (at - step) * (COLOURS[step + 1][channel] - part); });
    pixels.data[4 * place + 3] = 255 * strength;
  });
  context.putImageData(pixels, 0, 0);
  return canvas;
}
