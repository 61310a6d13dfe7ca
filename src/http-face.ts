import type { Handler } from './http/handle.js'

/** The HTTP face of an instance, loaded when the instance starts or is first asked: a third of all its code. */
export interface HttpFace {
  readonly handle: Handler
  /** Loads it, once. */
  load(): Promise<Handler>
}

/** @param make makes the loaded face */
export function httpFace(make: () => Promise<Handler>): HttpFace {
  let handler: Handler | undefined
  let loading: Promise<Handler> | undefined
  function load(): Promise<Handler> {
    loading ??= make().then(
      (made) => {
        handler = made
        return made
      },
      (thrown: unknown) => {
        // As if it had not been tried.
        loading = undefined
        throw thrown
      },
    )
    return loading
  }
  return { load, handle: (request) => (handler ? handler(request) : load().then((made) => made(request))) }
}
