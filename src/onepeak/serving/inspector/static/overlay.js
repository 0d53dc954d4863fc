// An image with its evidence map on top, at the slider's opacity, and the scale of the map.
import {byId, element} from "./page.js";

/** Shows the image. `evidence` is an element to lay over it, or null if there is none, drawn between the `ends` of its scale.
    `noEvidence` is called if the map does not load, `noImage` if the browser cannot show the image; an evidence canvas is then
    shown on a plain background instead. */
export function showImage(image, evidence, name, {ends, noEvidence, noImage} = {}) {
  const place = byId("seen"), control = byId("overlay-control"), slider = byId("opacity"), scale = byId("scale");
  const strength = () => { for (const drawn of [evidence, scale.querySelector("i")]) if (drawn) drawn.style.opacity = slider.value / 100; };
  const apart = byId("apart"), beside = () => byId("seen").firstElementChild?.classList.toggle("apart", apart.checked && Boolean(evidence));
  control.hidden = !evidence;
  apart.onchange = beside;
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
  beside();
}

/** Shows the ends of the scale that all images and classes of a model share, or that there is none. */
function showScale(place, ends) {
  const [low, high] = (ends ?? []).map(value => String(Number(value.toPrecision(3))).replace("-", "−"));
  place.replaceChildren(...(ends ? [low, element("span", {class: "ramp", "aria-hidden": "true"}, element("i")), `${high} and more`] : []));
  byId("scale-note").textContent = ends
    ? `Evidence is how much each part of the image raises the score of this class above the other classes. One scale for all images and classes of this model: at ${low} it raises nothing; about a tenth of the validation images reach ${high}. Brighter is more; the lines are at a third and two thirds of the scale.`
    : "Brighter is more, from the lowest to the highest value of this map alone: do not compare it with others. The model is from an earlier version; a newly trained one has one scale for all maps.";
}

// Five colours of viridis: their lightness rises evenly, so that they read without colour vision too.
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

const SIDE = 256, CONTOURS = [1 / 3, 2 / 3]; // pixels of the longer side, and shares of the scale that have a line

/** Rows of numbers as a smooth canvas: colour and opacity rise with the evidence between the ends of the scale, by default its own. */
export function evidenceCanvas(rows, ends) {
  const values = rows.flat(), [low, high] = ends ?? [Math.min(...values), Math.max(...values)];
  const tall = rows.length, wide = rows[0].length, scale = Math.max(1, Math.round(SIDE / Math.max(tall, wide)));
  const width = wide * scale, height = tall * scale;
  const canvas = element("canvas", {width, height}), context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
  const strengths = rows.map(row => row.map(value => high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0));
  const between = (place, scale, count) => { const at = Math.min(Math.max((place + 0.5) / scale - 0.5, 0), count - 1), first = Math.floor(at); return [first, Math.min(first + 1, count - 1), at - first]; };
  const smooth = new Float32Array(width * height), level = value => CONTOURS.filter(each => value >= each).length;
  for (let y = 0; y < height; y++) {
    const [top, bottom, down] = between(y, scale, tall);
    for (let x = 0; x < width; x++) {
      const [left, right, across] = between(x, scale, wide), mix = row => strengths[row][left] * (1 - across) + strengths[row][right] * across;
      smooth[y * width + x] = mix(top) * (1 - down) + mix(bottom) * down;
    }
  }
  smooth.forEach((strength, place) => {
    const x = place % width, border = (x > 0 && level(strength) !== level(smooth[place - 1])) || (place >= width && level(strength) !== level(smooth[place - width]));
    const at = strength * (COLOURS.length - 1), step = Math.min(Math.floor(at), COLOURS.length - 2);
    for (let channel = 0; channel < 3; channel++) pixels.data[4 * place + channel] = border ? 255 : COLOURS[step][channel] + (at - step) * (COLOURS[step + 1][channel] - COLOURS[step][channel]);
    pixels.data[4 * place + 3] = border ? 235 : 255 * strength;
  });
  context.putImageData(pixels, 0, 0);
  return canvas;
}
