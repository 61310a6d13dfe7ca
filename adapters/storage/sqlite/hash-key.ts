/**
 * Integer index keys of strings. They are part of the schema: stored in files, so they must never change. Queries also
 * compare the string itself, because different strings may have the same key.
 */

/** 53 bits of two FNV-1a hashes. */
export function hashKey(text: string): number {
  return hash(text, 21) * 0x1_0000_0000 + hash(text, 32, 0x811c9dc5, 0x01000193)
}

/** The upper bits of a 32-bit FNV-1a hash, with the given offset basis and prime. */
function hash(text: string, bits: number, basis = 0x01000193, prime = 0x85ebca6b): number {
  let mixed = basis
  for (let index = 0; index < text.length; index += 1)
    mixed = Math.imul(mixed ^ text.charCodeAt(index), prime)
  return mixed >>> (32 - bits)
}

/** An id of ours, which begins with its creation time in Unix ms. */
const TIMED_ID = /^[0-9a-f]{32}$/
const TIME_DIGITS = 12
/** The digits that an event's id shares with those of its deliveries. */
const SHARED_DIGITS = 24
/** Ids of one step are neighbours in the index: some hundreds at a busy moment, on two or three pages. */
const STEP_MS = 32
const STEPS = 2 ** 33
const HASH_BITS = 20

/**
 * The key of an event's id, and of the ids of its deliveries. Where they begin with their time: 33 bits of the time in steps
 * of 32 ms, and 20 bits of the hash of the digits that they share. New ids are then added at the end of the index, to pages
 * that are written anyway; plain hashes would dirty one page each.
 */
export function idHashKey(id: string): number {
  if (!TIMED_ID.test(id)) return hashKey(id)
  const step = Math.floor(Number.parseInt(id.slice(0, TIME_DIGITS), 16) / STEP_MS) % STEPS
  return step * 2 ** HASH_BITS + hash(id.slice(0, SHARED_DIGITS), HASH_BITS)
}
