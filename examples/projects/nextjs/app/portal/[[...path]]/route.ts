import { fetchHandler } from 'hookswitch/fetch'
import { portal } from 'hookswitch/portal'

const handle = fetchHandler(portal())

export const GET = (request: Request): Promise<Response> => handle(request)
