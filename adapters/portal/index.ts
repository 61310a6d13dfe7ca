/** `hookswitch/portal`: a page on which the users of an account see and change their webhooks. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpService } from 'hookswitch/adapter'
import { checkPortalOptions, type PortalOptions } from './options.js'
import { createPortalService } from './service.js'

export type { PortalOptions } from './options.js'
export type { PortalSession, SessionReader } from './session.js'

/** The folder of this module: the built page is beside it. */
const FOLDER = typeof __dirname === 'string' ? __dirname : dirname(fileURLToPath(import.meta.url))

/**
 * Creates the service of the page. `nodeHandler`, `expressMiddleware`, `fastifyPlugin` and `fetchHandler` serve it as they
 * serve a hookswitch instance. The page calls the API with its user's token, and has no rights beyond those.
 *
 * @throws HookswitchError `InvalidOption` naming the option
 * @example
 * app.use('/telephony', expressMiddleware(hs), expressMiddleware(portal())) // the page is at /telephony/portal
 */
export function portal(options: PortalOptions = {}): HttpService {
  return createPortalService(checkPortalOptions(options), join(FOLDER, 'portal'))
}
