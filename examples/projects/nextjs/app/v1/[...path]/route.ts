import { fetchHandler } from 'hookswitch/fetch'
import { hs } from '../../../lib/hookswitch'

const handle = fetchHandler(hs)

function handler(request: Request): Promise<Response> {
  // The last entry is the peer of your proxy, or of Next.js without one. Logins are limited by it.
  const remoteAddress = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim()
  return handle(request, { remoteAddress })
}

export {
  handler as DELETE,
  handler as GET,
  handler as OPTIONS,
  handler as PATCH,
  handler as POST,
  handler as PUT,
}
