/** Id syntax and id generators. */

const ID_BYTES = 16
/** Random bytes are drawn for 64 ids at a time: each delivery needs several. */
const BLOCK_BYTES = 64 * ID_BYTES

/** Ids that a client may choose or send: of accounts, webhooks, users and deliveries. */
const ID = /^[A-Za-z0-9_-]{1,64}$/

/** True for a well-formed id: 1 to 64 of `A-Z a-z 0-9 _ -`. */
export function isId(text: string): boolean {
  return ID.test(text)
}

/** Draws blocks of random bytes. `next` returns the offset of the next id in `block`. */
function createIdBlocks(bytes: (count: number) => Uint8Array): { block: Buffer; next(): number } {
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
 * Creates an id generator over a source of random bytes: 32 lower-case hex digits, 128 random bits (KAZOO's form).
 *
 * @example
 * const newId = createIdGenerator((count) => random.bytes(count))
 */
export function createIdGenerator(bytes: (count: number) => Uint8Array): () => string {
  const blocks = createIdBlocks(bytes)
  return () => {
    const start = blocks.next()
    return blocks.block.toString('hex', start, start + ID_BYTES)
  }
}

const TIME_BYTES = 6
const MAX_TIME_MS = 2 ** (8 * TIME_BYTES) - 1

/**
 * Creates a generator of time-ordered ids: 12 hex digits of Unix milliseconds, then 80 random bits. For rows that every
 * event inserts: new ids are adjacent in a store's indexes, on pages that are written anyway, where random ids would
 * each dirty a page.
 *
 * The time is written into the bytes rather than prepended to the text: V8 would keep a concatenated string as a rope.
 *
 * @param now wall clock, Unix ms; may jump
 */
export function createTimeOrderedIdGenerator(
  bytes: (count: number) => Uint8Array,
  now: () => number,
): () => string {
  const blocks = createIdBlocks(bytes)
  return () => {
    const start = blocks.next()
    const ms = Math.min(Math.max(0, Math.floor(now())), MAX_TIME_MS)
    blocks.block.writeUIntBE(ms, start, TIME_BYTES)
    return blocks.block.toString('hex', start, start + ID_BYTES)
  }
}
