/** Collects the bytes of an incomplete message. Chunks of one byte cost no more per byte than large ones. */

/** Bytes that were received and not yet used. */
interface PendingBytes {
  /** Returns the pending bytes followed by those of the chunk; all of them are pending now. */
  append(chunk: Buffer): Buffer
  /** Forgets all but the last bytes, which are never overwritten: parts of what `append` returned stay valid. */
  keepLast(length: number): void
}

const EMPTY = Buffer.alloc(0)
/** A larger buffer is released with its message, bytes. */
const MAX_KEPT_BYTES = 262_144

export function createPendingBytes(): PendingBytes {
  let pending: Buffer = EMPTY
  /** What `pending` is a part of, up to the offset `end`; empty while it is a part of a chunk. */
  let space: Buffer = EMPTY
  let end = 0

  return {
    append(chunk) {
      if (chunk.length === 0) return pending
      const length = pending.length + chunk.length
      if (pending.length === 0) {
        space = EMPTY
        end = 0
        pending = chunk
        return pending
      }
      if (end + chunk.length > space.length) {
        space = Buffer.allocUnsafe(Math.max(length, 2 * pending.length))
        end = pending.copy(space)
      }
      end += chunk.copy(space, end)
      pending = space.subarray(end - length, end)
      return pending
    },
    keepLast(length) {
      pending = pending.subarray(pending.length - length)
      if (pending.buffer.byteLength <= MAX_KEPT_BYTES || pending.length > MAX_KEPT_BYTES / 2) return
      pending = length === 0 ? EMPTY : Buffer.from(pending)
      space = EMPTY
      end = 0
    },
  }
}
