/** Two services on one server: the API, and the page below its own path. */
import type { HttpService } from 'hookswitch/adapter'

/** @param api answers every path that is not the page's */
export function bothServices(api: HttpService, page: HttpService): HttpService {
  return {
    handle: (request) => (page.handlesPath(request.url) ? page : api).handle(request),
    handlesPath: (url) => page.handlesPath(url) || api.handlesPath(url),
    ...(api.admitBody && { admitBody: api.admitBody }),
    ...(api.node === undefined ? {} : { node: api.node }),
  }
}
