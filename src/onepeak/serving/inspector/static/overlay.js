// An image with its evidence map on top, at the slider's opacity, or beside it, and the scale of the map.
import {byId, element} from "./page.js";

const control = byId("overlay-control"), slider = byId("opacity"), apart = byId("apart"), alone = byId("own-scale"), scale = byId("scale");
let drawn = null; // the map that is shown

/** Shows an image, without evidence. `noImage` is called if the browser cannot show it; evidence is then shown on a plain ground. */
export function showImage(image, name, noImage) {
  const shown = element("img", {src: image, alt: `The image: ${name}`}), stack = element("div", {class: "stack"}, shown);
  if (noImage) shown.onerror = () => {
    if (!shown.isConnected) return; // another image is shown by now
    shown.remove();
    const canvas = stack.querySelector("canvas");
    if (canvas) {
      stack.classList.add("ground");
      stack.style.aspectRatio = `${canvas.width} / ${canvas.height}`;
    } else stack.parentElement.remove();
    noImage();
  };
  byId("seen").replaceChildren(element("div", {class: "image"}, stack));
  control.hidden = true;
}

/** Lays evidence over the image, drawn between the `ends` of its scale; null takes it away. */
export function showEvidence(rows, ends) {
  const frame = byId("seen").firstElementChild;
  frame?.querySelector("canvas")?.remove();
  control.hidden = !rows || !frame;
  if (control.hidden) return arrange();
  drawn = {rows, ends};
  alone.parentElement.hidden = !ends;
  frame.querySelector(".stack").append(evidenceCanvas(rows, alone.checked ? null : ends));
  showScale(scale, alone.checked ? null : ends, Boolean(ends));
  arrange();
}

/** Sets the opacity, and puts the image without the map beside that with it where this is wanted. */
function arrange() {
  const frame = byId("seen").firstElementChild, canvas = frame?.querySelector("canvas"), image = frame?.querySelector(".stack img");
  for (const faded of [canvas, scale.querySelector("i")]) if (faded) faded.style.opacity = slider.value / 100;
  frame?.querySelector(".plain-image")?.remove();
  frame?.classList.toggle("apart", apart.checked && Boolean(canvas && image));
  if (!frame?.classList.contains("apart")) return;
  const plain = image.cloneNode();
  plain.className = "plain-image";
  frame.prepend(plain);
}
slider?.addEventListener("input", arrange);
alone?.addEventListener("change", () => showEvidence(drawn.rows, drawn.ends));
apart?.addEventListener("change", () => {
  arrange();
  dispatchEvent(new Event("resize")); // the chart beside it has another width now
});

/** Shows the ends of the scale that all images and classes of a model share, or that there is none. */
function showScale(place, ends, known) {
  const [low, high] = (ends ?? []).map(value => String(Number(value.toPrecision(3))).replace("-", "−"));
  place.replaceChildren(...(ends ? [low, element("span", {class: "ramp", "aria-hidden": "true"}, element("i")), `${high} and more`] : []));
  byId("scale-note").textContent = ends
    ? `Evidence is how much each part of the image raises the score of this class above the other classes. One scale for all images and classes of this model: at ${low} it raises nothing; about a tenth of the validation images reach ${high}. Brighter is more; the lines are at a third and two thirds of the scale.`
    : "Brighter is more, from the lowest to the highest value of this map alone: do not compare it with others." + (known ? "" : " This model recorded no scale for all maps: it was trained with --freeze, or by an earlier version.");
}

// From teal over green to yellow: rare in stained tissue, skin and fundus; the lightness rises evenly, so that they read without colour vision too.
const COLOURS = [[0, 92, 115], [0, 128, 128], [45, 168, 100], [150, 208, 60], [253, 231, 37]], BOLDNESS = 1.5; // opacity per strength

const SIDE = 512, CONTOURS = [1 / 3, 2 / 3]; // pixels of the longer side, and shares of the scale that have a line

/** Rows of numbers as a smooth canvas: colour and opacity rise with the evidence between the ends of the scale, by default its own. */
function evidenceCanvas(rows, ends) {
  const values = rows.flat(), [low, high] = ends ?? [Math.min(...values), Math.max(...values)];
  const tall = rows.length, wide = rows[0].length, scale = Math.max(1, Math.round(SIDE / Math.max(tall, wide)));
  const width = wide * scale, height = tall * scale;
  const canvas = element("canvas", {width, height, class: "evidence"}), context = canvas.getContext("2d"), pixels = context.createImageData(width, height);
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
  const border = smooth.map((strength, place) => {
    const x = place % width;
    return (x > 0 && level(strength) !== level(smooth[place - 1])) || (place >= width && level(strength) !== level(smooth[place - width])) ? 1 : 0;
  });
  const within = (place, reach) => { // a white line with dark edges shows on any ground
    const x = place % width, y = (place - x) / width;
    for (let down = Math.max(y - reach, 0); down <= Math.min(y + reach, height - 1); down++)
      for (let across = Math.max(x - reach, 0); across <= Math.min(x + reach, width - 1); across++) if (border[down * width + across]) return true;
    return false;
  };
  smooth.forEach((strength, place) => {
    const at = strength * (COLOURS.length - 1), step = Math.min(Math.floor(at), COLOURS.length - 2);
    const white = within(place, 1), dark = !white && within(place, 3);
    for (let channel = 0; channel < 3; channel++)
      pixels.data[4 * place + channel] = white ? 255 : dark ? 0 : COLOURS[step][channel] + (at - step) * (COLOURS[step + 1][channel] - COLOURS[step][channel]);
    pixels.data[4 * place + 3] = white || dark ? 255 : 255 * Math.min(BOLDNESS * strength, 1);
  });
  context.putImageData(pixels, 0, 0);
  return canvas;
}
