// A text whose words are marked by what they do to the prediction.
import {element} from "./page.js";

/** The mean class, counted from 0. */
export const expectedClass = probs => probs.reduce((sum, value, place) => sum + place * value, 0);

const LEAST = 0.15; // of the heaviest word: lighter ones are not marked

/** Words as a paragraph: what raises the expected class is underlined, what lowers it dotted, the stronger the darker. */
export function showWords(words, weights) {
  const most = Math.max(...weights.map(Math.abs), 1e-9);
  const marked = words.map((word, place) => {
    const weight = weights[place] ?? 0, share = Math.abs(weight) / most;
    if (share < LEAST) return [word, " "];
    const mark = element("mark", {class: weight > 0 ? "raises" : "lowers", title: `${weight > 0 ? "raises" : "lowers"} the expected class by ${Math.abs(weight).toFixed(2)}`}, word);
    mark.style.setProperty("--share", share.toFixed(2));
    return [mark, " "];
  });
  const rest = weights.length && weights.length < words.length ? ` Only the first ${weights.length} of ${words.length} words were tried.` : "";
  const key = weights.length ? element("p", {class: "quiet"}, element("mark", {class: "raises"}, "raises"), " and ", element("mark", {class: "lowers"}, "lowers"),
    ` the expected class: how far it falls or rises when the word is left out, at most by ${most.toFixed(2)} classes here.${rest}`) : "";
  return element("div", {class: "words"}, element("p", {class: "text"}, marked.flat()), key);
}
