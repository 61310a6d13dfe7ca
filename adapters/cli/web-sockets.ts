/** The WebSocket service of `--blackhole-port`. */
import { errorCode, type Hookswitch, type Log } from 'hookswitch'
import { type Blackhole, type BlackholeOptions, blackhole } from 'hookswitch/blackhole'
import { type Settings, wrongSetting } from './read-settings.js'

/**
 * Creates the service, which does not listen yet; `undefined` without a port for it.
 *
 * @throws `InvalidOption` naming the setting, if the package ws is not installed
 */
export async function createWebSockets(
  hs: Hookswitch,
  settings: Settings,
  log: Log,
): Promise<Blackhole | undefined> {
  const { values } = settings
  if (values['blackhole.port'] === undefined) return undefined
  const limits: BlackholeOptions = Object.fromEntries(
    (['maxSockets', 'maxSocketsPerAddress', 'maxBindings'] as const).flatMap((name) => {
      const value = values[`blackhole.${name}`]
      return value === undefined ? [] : [[name, value]]
    }),
  )
  try {
    return await blackhole(hs, { ...limits, trustProxy: values.trustProxy ?? [], log })
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidOption') throw thrown
    const { message } = thrown as Error
    throw wrongSetting(settings, 'blackhole.port', message.replace(/^blackhole /, ''))
  }
}
