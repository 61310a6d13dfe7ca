/**
 * A text as a number for an index: 53 bits of two FNV-1a hashes. Texts of one number are told apart by themselves.
 * Part of the schema: written into files.
 */
export function textKey(text: string): number {
  return hash(text, 21) * 0x1_0000_0000 + hash(text, 32, 0x811c9dc5, 0x01000193)
}

/** FNV-1a with its usual numbers, or others: so many bits of 32. */
function hash(text: string, bits: number, basis = 0x01000193, prime = 0x85ebca6b): number {
  let mixed = basis
  for (let index = 0; index < text.length; index += 1)
    mixed = Math.imul(mixed ^ text.charCodeAt(index), prime)
  return mixed >>> (32 - bits)
}

/** An id of ours that begins with the time it was made at, in Unix ms. */
const TIMED = /^[0-9a-f]{32}$/
const TIME_DIGITS = 12
/** Ids of one step stand side by side in the index: some hundreds of a busy moment, on two pages or three. */
const STEP_MS = 32
const STEPS = 2 ** 33
const HASH_BITS = 20

/**
 * The same of an id that begins with its time: 33 bits of that, in steps of 32 ms, and 20 of its hash. New ones then stand
 * at the end of the index, on pages that are written anyway, where hashes alone dirty a page each.
 */
export function idKey(id: string): number {
  if (!TIMED.test(id)) return textKey(id)
  const step = Math.floor(Number.parseInt(id.slice(0, TIME_DIGITS), 16) / STEP_MS) % STEPS
  return step * 2 ** HASH_BITS + hash(id, HASH_BITS)
}
