/** Inbound mode: the source connects to the switch. */

import { checkSourceOptions } from '../source/options.js'
import { createSwitchSource, type SwitchSource } from '../source/switch-source.js'
import { createAccountLookup } from './account-lookup.js'
import { createFreeswitchMapping } from './mapping.js'
import { FREESWITCH_SOURCE_OPTIONS, type FreeswitchSourceOptions } from './options.js'
import { openSession } from './session.js'
import { subscribedEvents } from './subscriptions.js'

/**
 * Publishes the channel events of a FreeSWITCH, read from its event socket in inbound mode (`mod_event_socket`).
 *
 * Connects on `start`, and reconnects whenever the connection is lost. While the service has no capacity it stops
 * reading: the switch then queues about 100,000 events for the listener and drops further ones.
 *
 * FreeSWITCH never repeats an event, so after each connect the source reads the open channels (`show channels`,
 * `uuid_dump`, `uuid_exists`). Legs that began while disconnected, answers, and bridges and holds that exist now are
 * published with their own times and `customChannelVars.found_by: 'resync'`. Legs that ended while disconnected get a
 * `channel_destroy` with the time of the discovery, NORMAL_UNSPECIFIED, `found_by: 'resync'` and no duration. Bridges and
 * holds that began and ended in that time are lost, and so are such legs.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const source = freeswitchSource({ publish: hs.publish, password: 'ClueCon', accountOf: accountFromVariable() })
 * source.events.on('disconnected', ({ reason }) => console.warn(reason))
 * source.start()
 */
export function freeswitchSource(options: FreeswitchSourceOptions): SwitchSource {
  const checked = checkSourceOptions('freeswitchSource', options, FREESWITCH_SOURCE_OPTIONS)
  const { host, port, password, format, connectTimeoutMs, silenceMs } = checked
  const { accountOf, customVariables, extraEvents, optionalHooks, maxOpenLegs, clock } = checked
  const endEvent = 'CHANNEL_DESTROY'
  const mapping = createFreeswitchMapping({
    accountOf,
    customVariables,
    extraEvents,
    optionalHooks,
    maxOpenLegs,
    endEvent,
  })
  const accounts = createAccountLookup(mapping, clock)
  const tcp = { host, port, clock, connectTimeoutMs, silenceMs }
  let isListeningForCapacity = false
  let onCapacity: () => void = () => {}
  const waitForCapacity = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      onCapacity = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })

  return createSwitchSource(checked, {
    peer: `freeswitch ${host}:${port}`,
    addressOption: 'host',
    requestAccounts: accounts.request,
    openLegs: mapping.openLegs,
    savableLegs: mapping.savable,
    async open(pipeline, signal) {
      if (!isListeningForCapacity) pipeline.onCapacity(() => onCapacity())
      isListeningForCapacity = true
      // Connecting while reading is paused would time out: the reply to the login would not be read.
      if (pipeline.isFull()) await waitForCapacity(signal)
      return openSession(
        {
          tcp,
          password,
          format,
          eventNames: subscribedEvents(endEvent, extraEvents, optionalHooks),
          mapping,
          pipeline,
          accounts,
          onOpen(session) {
            onCapacity = session.resume
          },
        },
        signal,
      )
    },
  })
}
