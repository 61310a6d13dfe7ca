import type { Backend } from './backend.js'

/** The open database of a store: opened once, closed once, and opened again. */
export interface Life {
  /** Present while it is open. */
  readonly backend: Backend | undefined
  /**
   * Opens it, unless it is open or opening.
   *
   * @param begin told how to say that what it opened is gone, so that it may be opened anew
   */
  open(begin: (lost: () => void) => Promise<Backend>): Promise<void>
  /** From now on there is none; resolves when it is closed. */
  close(): Promise<void>
}

export function newLife(): Life {
  let opening: Promise<Backend> | undefined
  let backend: Backend | undefined
  let closed: Promise<void> = Promise.resolve()

  function start(begin: (lost: () => void) => Promise<Backend>): Promise<Backend> {
    const over = () => {
      if (opening === mine) opening = undefined
    }
    // One that is closing still has the file.
    const mine = closed.then(() => begin(over))
    mine.then((opened) => {
      if (opening === mine) backend = opened
    }, over)
    return mine
  }

  return {
    get backend() {
      return backend
    },
    async open(begin) {
      opening ??= start(begin)
      await opening
    },
    close() {
      const last = opening ?? (backend && Promise.resolve(backend))
      opening = backend = undefined
      const before = closed
      if (last) {
        closed = last.then(
          (opened) => opened.close(),
          () => before,
        )
      }
      return closed
    },
  }
}
