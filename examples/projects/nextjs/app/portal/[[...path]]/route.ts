import { fetchHandler } from 'hookswitch/fetch'
import { portal } from 'hookswitch/portal'

const handle = fetchHandler(portal())

export function GET(request: Request): Promise<Response> {
  const headers = new Headers(request.headers)
  // Next.js compresses responses, also those that are compressed already.
  headers.delete('accept-encoding')
  return handle(new Request(request.url, { headers }))
}
