const ID_BYTES = 16
/** Bytes are asked for many ids at a time: several are made for each delivery. */
const BLOCK_BYTES = 64 * ID_BYTES

/** Ids that a client may choose or send: accounts, webhooks, users, deliveries. */
const ID = /^[A-Za-z0-9_-]{1,64}$/

/** True for a well-formed id: 1 to 64 of `A-Z a-z 0-9 _ -`. */
export function isId(text: string): boolean {
  return ID.test(text)
}

/**
 * A maker of ids over a source of random bytes: 32 lower-case hex digits, 128 random bits (KAZOO's form).
 *
 * @example
 * const newId = idMaker((count) => random.bytes(count))
 */
export function idMaker(bytes: (count: number) => Uint8Array): () => string {
  let block = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used === block.length) {
      block = Buffer.from(bytes(BLOCK_BYTES))
      used = 0
    }
    used += ID_BYTES
    return block.toString('hex', used - ID_BYTES, used)
  }
}

const TIME_DIGITS = 12

/**
 * A maker of ids that begin with the time they were made at: 12 hex digits of Unix milliseconds, then 80 random bits. For
 * what is made with every event: in a store's indexes the new ones stand side by side, on pages that are written anyway,
 * where random ones dirty a page each.
 *
 * @param now wall clock, Unix ms; may jump
 */
export function timedIdMaker(bytes: (count: number) => Uint8Array, now: () => number): () => string {
  const random = idMaker(bytes)
  let madeAtMs = Number.NaN
  let time = ''
  return () => {
    const ms = now()
    if (ms !== madeAtMs) {
      madeAtMs = ms
      time = Math.max(0, Math.floor(ms)).toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS)
    }
    return time + random().slice(TIME_DIGITS)
  }
}
