// A picture with its evidence over it, as strong as the slider says.
import {byId, element} from "./page.js";

/** Shows the picture; `evidence` is an element to lay over it, or null where there is none. `noEvidence` is called if that does not come,
    `noPicture` if the browser cannot show the picture: a canvas of evidence then lies on a plain ground in its place. */
export function showPicture(picture, evidence, name, {noEvidence, noPicture} = {}) {
  const place = byId("seen"), control = byId("overlay-control"), slider = byId("opacity");
  const strength = () => { if (evidence) evidence.style.opacity = slider.value / 100; };
  control.hidden = !evidence;
  slider.oninput = strength;
  strength();
  evidence?.classList.add("evidence");
  if (evidence) evidence.onerror = () => {
    if (!evidence.isConnected) return; // another method is shown by now
    control.hidden = true;
    evidence.remove();
    noEvidence?.();
  };
  const shown = element("img", {src: picture, alt: `The picture: ${name}`}), frame = element("div", {class: "picture"}, shown, evidence);
  if (noPicture) shown.onerror = () => {
    if (!shown.isConnected) return; // another picture is shown by now
    shown.remove();
    if (evidence) {
      frame.classList.add("ground");
      frame.style.aspectRatio = `${evidence.width} / ${evidence.height}`;
    } else frame.remove();
    noPicture();
  };
  place.replaceChildren(frame);
}

// Five colours of viridis: their lightness rises evenly, so they read without colour vision too.
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/** Rows of numbers as a canvas: colour and opacity rise with the evidence. */
export function evidenceCanvas(rows) {
  const high = Math.max(...rows.flat()), low = Math.min(...rows.flat()), canvas = element("canvas", {width: rows[0].length, height: rows.length});
  const context = canvas.getContext("2d"), pixels = context.createImageData(rows[0].length, rows.length);
  rows.flat().forEach((value, place) => {
    const strength = high > low ? (value - low) / (high - low) : 0, at = strength * (COLOURS.length - 1), step = Math.min(Math.floor(at), COLOURS.length - 2);
    COLOURS[step].forEach((part, channel) => { pixels.data[4 * place + channel] = part + (at - step) * (COLOURS[step + 1][channel] - part); });
    pixels.data[4 * place + 3] = 255 * strength;
  });
  context.putImageData(pixels, 0, 0);
  return canvas;
}
