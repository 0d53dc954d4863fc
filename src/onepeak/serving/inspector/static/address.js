// The filters of samples, as the address of a page holds them.
const NAMES = ["method", "part", "truth", "predicted", "error", "soi", "paradoxical", "search", "sort"];

/** What the address says: only known names that are not empty. */
export function filtersOf(address) {
  const given = new URLSearchParams(address), found = new URLSearchParams();
  for (const name of NAMES) if (given.get(name)) found.set(name, given.get(name));
  return found;
}

/** The address of one sample, which keeps the list that it was found in. */
export function sampleAddress({part, item}, filters) {
  const query = filters.toString();
  return `/sample/${part}/${item}${query ? `?${query}` : ""}`;
}

export const PAGE_SIZE = 60;
const SEEN = "onepeak-sample";

/** Keeps which sample was looked at last, so that the list can show where one was. */
export function remember(part, item) {
  try { sessionStorage.setItem(SEEN, `/sample/${part}/${item}`); } catch { /* storage is forbidden: the list starts at its top */ }
}

/** The path of the sample that the user comes back from; null for who comes from elsewhere. */
export function cameFrom() {
  const back = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  const linked = document.referrer.startsWith(`${location.origin}/sample/`);
  try { return back || linked ? sessionStorage.getItem(SEEN) : null; } catch { return null; }
}
