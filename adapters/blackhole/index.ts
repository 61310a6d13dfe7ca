/**
 * `hookswitch/blackhole`: call events over WebSockets by the protocol of KAZOO's application blackhole, so that its clients
 * work unchanged.
 */
import { checkService } from 'hookswitch/adapter'
import { loadWebSocketServer } from './load-ws.js'
import { type BlackholeOptions, checkBlackholeOptions } from './options.js'
import { type Blackhole, type BlackholeSource, createBlackholeService } from './service.js'

export type { BlackholeOptions } from './options.js'
export type { Blackhole, BlackholeSource } from './service.js'

/**
 * Creates the WebSocket service of an instance. Needs the package `ws`, version 8.17.1 or later.
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` naming the option, if `hs` is no instance, or if the package `ws` is not installed
 * @example
 * const sockets = await blackhole(hs)
 * sockets.createServer().listen(5555)
 */
export async function blackhole(hs: BlackholeSource, options: BlackholeOptions = {}): Promise<Blackhole> {
  checkService('blackhole', hs, ['watchEvents'])
  const settings = checkBlackholeOptions(options)
  return createBlackholeService(hs, settings, await loadWebSocketServer())
}
