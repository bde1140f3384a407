/** Work that is done once for each key. */

/**
 * Returns what is kept under a key, or makes and keeps it; what fails is tried again next time.
 * @template Key
 * @template Value
 * @param {Map<Key, Promise<Value>>} kept
 * @param {Key} key
 * @param {() => Promise<Value>} make
 * @returns {Promise<Value>}
 */
export function once(kept, key, make) {
  const known = kept.get(key);
  if (known) return known;
  const value = make();
  kept.set(key, value);
  value.catch(() => kept.delete(key));
  return value;
}
