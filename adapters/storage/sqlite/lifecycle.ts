/** The open backend of a store: opened once, closed once, and possibly opened again. */
import type { Backend } from './backend.js'

interface StoreLifecycle {
  /** Present while it is open. */
  readonly backend: Backend | undefined
  /**
   * Opens the backend, unless it is open or opening.
   *
   * @param openBackend receives a callback for a backend that is lost, after which the store may be opened again
   */
  open(openBackend: (onLost: () => void) => Promise<Backend>): Promise<void>
  /** Removes the backend at once; resolves when it is closed. */
  close(): Promise<void>
}

export function createLifecycle(): StoreLifecycle {
  let opening: Promise<Backend> | undefined
  let backend: Backend | undefined
  let closed: Promise<void> = Promise.resolve()

  function start(openBackend: (onLost: () => void) => Promise<Backend>): Promise<Backend> {
    const clear = () => {
      if (opening === mine) opening = undefined
    }
    // A backend that is still closing holds the lock on the file.
    const mine = closed.then(() => openBackend(clear))
    mine.then((opened) => {
      if (opening === mine) backend = opened
    }, clear)
    return mine
  }

  return {
    get backend() {
      return backend
    },
    async open(openBackend) {
      opening ??= start(openBackend)
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
