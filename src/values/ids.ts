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
