import type { Handler } from './handle.js'

/** The HTTP handler of an instance, loaded when the instance starts or at the first request: a third of all code. */
interface LazyHandler {
  readonly handle: Handler
  /** Loads the handler once; a later call may retry after a failure. */
  load(): Promise<Handler>
}

/** @param create imports and creates the handler */
export function createLazyHandler(create: () => Promise<Handler>): LazyHandler {
  let handler: Handler | undefined
  let loading: Promise<Handler> | undefined
  function load(): Promise<Handler> {
    loading ??= create().then(
      (created) => {
        handler = created
        return created
      },
      (thrown: unknown) => {
        loading = undefined
        throw thrown
      },
    )
    return loading
  }
  return {
    load,
    handle: (request) => (handler ? handler(request) : load().then((loaded) => loaded(request))),
  }
}
