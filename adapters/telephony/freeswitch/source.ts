/** Inbound mode: we connect to the switch. */

import { type SwitchSource, switchSource } from '../source/switch-source.js'
import { freeswitchMapping } from './mapping.js'
import { neededEvents } from './needed-events.js'
import { checkFreeswitchOptions, FREESWITCH_DEFAULTS, type FreeswitchSourceOptions } from './options.js'
import { openSession } from './session.js'

/**
 * Channel events of a FreeSWITCH, heard over its event socket in inbound mode (`mod_event_socket`).
 *
 * It connects on `start`, and again whenever the connection is lost. While the service cannot take more, it stops
 * reading: the switch keeps some 100,000 events for a listener and drops those above.
 *
 * FreeSWITCH never repeats an event, so each time it connects it asks for the open channels (`show channels`,
 * `uuid_dump`, `uuid_exists`): legs that began unheard are published with their own times, legs that ended unheard get a
 * `channel_destroy` with the time at which that was found, NORMAL_UNSPECIFIED and
 * `customChannelVars.found_by: 'resync'`. Lost are bridges and holds of that time, and legs that began and ended in it.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const source = freeswitchSource({ publish: hs.publish, password: 'ClueCon', accountOf: accountFromVariable() })
 * source.events.on('disconnected', ({ reason }) => console.warn(reason))
 * source.start()
 */
export function freeswitchSource(options: FreeswitchSourceOptions): SwitchSource {
  const checked = checkFreeswitchOptions(options)
  const { accountOf, customVariables = [], extraEvents = [] } = options
  const { host = FREESWITCH_DEFAULTS.host, port = FREESWITCH_DEFAULTS.port } = options
  const endsWith = 'CHANNEL_DESTROY'
  const { maxOpenLegs, clock } = checked
  const mapping = freeswitchMapping({ accountOf, customVariables, extraEvents, maxOpenLegs, endsWith })
  const tcp = {
    host,
    port,
    clock,
    connectTimeoutMs: options.connectTimeoutMs ?? FREESWITCH_DEFAULTS.connectTimeoutMs,
    silenceMs: options.silenceMs ?? FREESWITCH_DEFAULTS.silenceMs,
  }
  let awaitsRoom = false
  let onRoom: () => void = () => {}
  const room = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      onRoom = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })

  return switchSource(checked, {
    peer: `freeswitch ${host}:${port}`,
    openLegs: mapping.openLegs,
    async open(feed, signal) {
      if (!awaitsRoom) feed.onRoom(() => onRoom())
      awaitsRoom = true
      // Who cannot read must not connect: the login would never be answered.
      if (feed.isFull()) await room(signal)
      return openSession(
        {
          tcp,
          password: options.password ?? FREESWITCH_DEFAULTS.password,
          format: options.format ?? FREESWITCH_DEFAULTS.format,
          events: neededEvents(endsWith, extraEvents),
          mapping,
          feed,
          onOpen(session) {
            onRoom = session.resume
          },
        },
        signal,
      )
    },
  })
}
