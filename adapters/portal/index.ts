/** `hookswitch/portal`: a page on which the users of an account see and change their webhooks. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HookswitchError } from 'hookswitch'
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
 * @throws HookswitchError `InvalidOption` naming the option, or if a bundle lacks the files of the page
 * @example
 * app.use('/telephony', expressMiddleware(hs), expressMiddleware(portal())) // the page is at /telephony/portal
 */
export function portal(options: PortalOptions = {}): HttpService {
  const settings = checkPortalOptions(options)
  const files = join(FOLDER, 'portal')
  // In a checkout, which has the sources beside this file, the page may be built later.
  if (!existsSync(join(files, 'index.html')) && !existsSync(join(FOLDER, 'app'))) {
    const advice =
      "leave hookswitch/portal out of your bundle, or copy 'node_modules/hookswitch/dist/portal' there"
    throw new HookswitchError(
      'InvalidOption',
      `portal(): the files of the page are not in ${files}: ${advice}`,
    )
  }
  return createPortalService(settings, files)
}
