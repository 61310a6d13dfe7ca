/** Loads the package ws, which only hosts of this service install. */
import { HookswitchError } from 'hookswitch'
import type { WebSocketServer } from 'ws'

export type ServerConstructor = typeof WebSocketServer

/** @throws HookswitchError `InvalidOption` if the package is missing */
export async function loadWebSocketServer(
  load: () => Promise<{ readonly WebSocketServer: ServerConstructor }> = () => import('ws'),
): Promise<ServerConstructor> {
  try {
    return (await load()).WebSocketServer
  } catch (thrown) {
    throw new HookswitchError(
      'InvalidOption',
      'blackhole needs the package ws, version 8.17.1 or later: npm install ws',
      { field: 'blackhole', cause: thrown },
    )
  }
}
