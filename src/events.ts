/** The event bus of one instance. Isolates listeners from each other and from the code that emits. */
import { EventEmitter } from 'eventemitter3'
import { HookswitchError } from './errors.js'
import { suggestionOf } from './values/closest-name.js'

/**
 * Registers listeners; `hs.events` of an instance. A listener that throws or rejects is logged and affects nothing
 * else. Payloads are frozen.
 *
 * @typeParam Events payloads by event name
 */
export interface EventHub<Events extends object> {
  /** Calls `listener` for every event of this name. Throws `InvalidOption` for a name that is no event. */
  on<Name extends keyof Events & string>(name: Name, listener: (payload: Events[Name]) => unknown): this
  /** Calls `listener` for the next event of this name only. */
  once<Name extends keyof Events & string>(name: Name, listener: (payload: Events[Name]) => unknown): this
  /** Removes a listener added by `on` or `once`. */
  off<Name extends keyof Events & string>(name: Name, listener: (payload: Events[Name]) => unknown): this
}

type Listener = (payload: never) => unknown

const invalidOption = (field: string, message: string) =>
  new HookswitchError('InvalidOption', message, { field })

/** The hub as the instance sees it: listeners plus the right to emit. */
export interface EventBus<Events extends object> extends EventHub<Events> {
  /** Freezes the payload and calls every listener of `name`. Never throws. */
  emit<Name extends keyof Events & string>(name: Name, payload: Events[Name]): void
  /** False: nobody listens, so the payload need not be created. */
  hasListeners(name: keyof Events & string): boolean
}

/**
 * Creates an event bus. A listener that throws, or whose promise rejects, neither stops the listeners after it nor
 * reaches the code that emits.
 *
 * @param onFault receives what a listener threw, and the event's name
 * @param names of all events: a listener of another one would never be called. Default: any name is one
 */
export function createEventBus<Events extends object>(
  onFault: (thrown: unknown, eventName: string) => void,
  names?: readonly string[],
): EventBus<Events> {
  const emitter = new EventEmitter()
  const wrappers = new WeakMap<object, Map<string, (payload: unknown) => void>>()

  const report = (thrown: unknown, name: string) => {
    try {
      onFault(thrown, name)
    } catch {
      // `onFault` calls the host's logger, which may throw too.
    }
  }
  const wrap = (name: string, listener: Listener) => {
    if (names && !names.includes(name))
      throw invalidOption('name', `'${name}' is not an event${suggestionOf(name, names)}`)
    if (typeof listener !== 'function')
      throw invalidOption('listener', `the listener of '${name}' must be a function`)
    const existing = wrappers.get(listener)?.get(name)
    if (existing) return existing
    const wrapper = (payload: unknown) => {
      try {
        const result = listener(payload as never)
        if (result instanceof Promise) result.catch((thrown: unknown) => report(thrown, name))
      } catch (thrown) {
        report(thrown, name)
      }
    }
    const byName = wrappers.get(listener) ?? new Map<string, (payload: unknown) => void>()
    wrappers.set(listener, byName.set(name, wrapper))
    return wrapper
  }

  const bus: EventBus<Events> = {
    on(name: string, listener: Listener) {
      emitter.on(name, wrap(name, listener))
      return bus
    },
    once(name: string, listener: Listener) {
      emitter.once(name, wrap(name, listener))
      return bus
    },
    off(name: string, listener: Listener) {
      emitter.off(name, wrap(name, listener))
      return bus
    },
    hasListeners: (name) => emitter.listenerCount(name) > 0,
    emit(name, payload) {
      // Frozen, because a store may keep the same object.
      if (emitter.listenerCount(name) > 0) emitter.emit(name, Object.freeze(payload))
    },
  }
  return bus
}
