// The sample filters in the address of a page.
const NAMES = ["method", "part", "truth", "predicted", "error", "soi", "paradoxical", "flagged", "doubtful", "twins", "distance", "search", "group", "width", "other", "beaten", "differ", "sort"];

/** The filters of an address: known names with a value. */
export function filtersOf(address) {
  const given = new URLSearchParams(address), found = new URLSearchParams();
  for (const name of NAMES) if (given.get(name)) found.set(name, given.get(name));
  return found;
}

/** The address of one sample, including the filters of its list. */
export function sampleAddress({part, item}, filters) {
  const query = filters.toString();
  return `/sample/${part}/${item}${query ? `?${query}` : ""}`;
}

export const PAGE_SIZE = 60;
const SEEN = "onepeak-sample";

/** Remembers the sample viewed last, so that the list can scroll back to it. */
export function remember(part, item) {
  try { sessionStorage.setItem(SEEN, `/sample/${part}/${item}`); } catch { /* storage is forbidden: the list starts at its top */ }
}

/** The path of the sample that the user returns from; null when coming from elsewhere. */
export function cameFrom() {
  const back = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  const linked = document.referrer.startsWith(`${location.origin}/sample/`);
  try { return back || linked ? sessionStorage.getItem(SEEN) : null; } catch { return null; }
}
