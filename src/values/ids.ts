const ID_BYTES = 16
/** Bytes are asked for many ids at a time: several are made for each delivery. */
const BLOCK_BYTES = 64 * ID_BYTES

/** Ids that a client may choose or send: accounts, webhooks, users, deliveries. */
const ID = /^[A-Za-z0-9_-]{1,64}$/

/** True for a well-formed id: 1 to 64 of `A-Z a-z 0-9 _ -`. */
export function isId(text: string): boolean {
  return ID.test(text)
}

/** Draws blocks of random ids; `next` says where the next one begins in `block`, as bytes. */
function idBlocks(bytes: (count: number) => Uint8Array): { block: Buffer; next(): number } {
  let used = 0
  const blocks = {
    block: Buffer.alloc(0),
    next() {
      if (used === blocks.block.length) {
        blocks.block = Buffer.from(bytes(BLOCK_BYTES))
        used = 0
      }
      const start = used
      used += ID_BYTES
      return start
    },
  }
  return blocks
}

/**
 * A maker of ids over a source of random bytes: 32 lower-case hex digits, 128 random bits (KAZOO's form).
 *
 * @example
 * const newId = idMaker((count) => random.bytes(count))
 */
export function idMaker(bytes: (count: number) => Uint8Array): () => string {
  const blocks = idBlocks(bytes)
  return () => {
    const start = blocks.next()
    return blocks.block.toString('hex', start, start + ID_BYTES)
  }
}

const TIME_BYTES = 6
const MAX_TIME_MS = 2 ** (8 * TIME_BYTES) - 1

/**
 * A maker of ids that begin with the time they were made at: 12 hex digits of Unix milliseconds, then 80 random bits. For
 * what is made with every event: in a store's indexes the new ones stand side by side, on pages that are written anyway,
 * where random ones dirty a page each.
 *
 * The time is written into the bytes, not before the text: joined texts would stay in pieces until something reads them.
 *
 * @param now wall clock, Unix ms; may jump
 */
export function timedIdMaker(bytes: (count: number) => Uint8Array, now: () => number): () => string {
  const blocks = idBlocks(bytes)
  return () => {
    const start = blocks.next()
    const ms = Math.min(Math.max(0, Math.floor(now())), MAX_TIME_MS)
    blocks.block.writeUIntBE(ms, start, TIME_BYTES)
    return blocks.block.toString('hex', start, start + ID_BYTES)
  }
}
