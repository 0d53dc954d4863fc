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
