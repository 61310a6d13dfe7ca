/** What the public port serves: the API, the page below its own path, and `/`, which leads to them. */
import { errorResponse, type HttpService, type RequestRecord, type ResponseRecord } from 'hookswitch/adapter'

/**
 * @param api answers every path that is neither `/` nor the page's
 * @param page `undefined`: there is none
 */
export function publicService(api: HttpService, page?: HttpService): HttpService {
  return {
    handle(request) {
      if (isRoot(request.url)) return Promise.resolve(respondAtRoot(request, page?.rootPaths?.[0]))
      return (page?.handlesPath(request.url) ? page : api).handle(request)
    },
    handlesPath: (url) => isRoot(url) || page?.handlesPath(url) === true || api.handlesPath(url),
    ...(api.admitBody && { admitBody: api.admitBody }),
    ...(api.node === undefined ? {} : { node: api.node }),
  }
}

const isRoot = (url: string) => /^\/(?:[?#]|$)/.test(url)

/** Redirects to the page, or says where the API is; as JSON for those who ask for it, otherwise as text. */
function respondAtRoot({ method, headers }: RequestRecord, pagePath: string | undefined): ResponseRecord {
  if (method !== 'GET' && method !== 'HEAD') {
    return errorResponse(405, 'invalid_method', { headers: { allow: 'GET, HEAD' } })
  }
  const addresses = {
    ...(pagePath !== undefined && { page: `${pagePath}/` }),
    api: '/v1',
    openapi: '/v1/openapi.json',
  }
  const isJson = /\bapplication\/json\b/i.test(String(headers.accept))
  const lines = Object.entries(addresses).map(([name, path]) => `${name}: ${path}\n`)
  const body = isJson
    ? JSON.stringify({ data: addresses, status: 'success' })
    : `This is hookswitch.\n${lines.join('')}`
  return {
    status: pagePath === undefined ? 200 : 302,
    headers: {
      'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      vary: 'accept',
      // Relative, so that it holds behind a proxy that serves this port below a path.
      ...(pagePath !== undefined && { location: `${pagePath.slice(1)}/` }),
    },
    body: method === 'HEAD' ? '' : body,
  }
}
