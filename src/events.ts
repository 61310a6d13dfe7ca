import { EventEmitter } from 'eventemitter3'

/** What a host listens to: `hs.events`. */
export interface EventHub<Events extends Record<string, unknown>> {
  on<Name extends keyof Events & string>(name: Name, listener: (payload: Events[Name]) => unknown): this
  once<Name extends keyof Events & string>(name: Name, listener: (payload: Events[Name]) => unknown): this
  off<Name extends keyof Events & string>(name: Name, listener: (payload: Events[Name]) => unknown): this
}

/** The hub as its owner sees it. */
export interface Emitting<Events extends Record<string, unknown>> extends EventHub<Events> {
  emit<Name extends keyof Events & string>(name: Name, payload: Events[Name]): void
  /** Whether anybody listens: a payload that nobody hears need not be made. */
  isHeard(name: keyof Events & string): boolean
}

/**
 * An event hub in which a listener hurts only itself: one that throws, or whose promise rejects, neither stops
 * the listeners after it nor reaches the emitter.
 *
 * @param onFault told what a listener threw, with the event's name
 */
export function eventHub<Events extends Record<string, unknown>>(
  onFault: (thrown: unknown, eventName: string) => void,
): Emitting<Events> {
  const emitter = new EventEmitter()
  const guarded = new WeakMap<object, Map<string, (payload: unknown) => void>>()

  const report = (thrown: unknown, name: string) => {
    try {
      onFault(thrown, name)
    } catch {
      // The reporter is the host's too.
    }
  }
  const guard = (name: string, listener: (payload: never) => unknown) => {
    const known = guarded.get(listener)?.get(name)
    if (known) return known
    const safe = (payload: unknown) => {
      try {
        const result = listener(payload as never)
        if (result instanceof Promise) result.catch((thrown: unknown) => report(thrown, name))
      } catch (thrown) {
        report(thrown, name)
      }
    }
    const byName = guarded.get(listener) ?? new Map<string, (payload: unknown) => void>()
    guarded.set(listener, byName.set(name, safe))
    return safe
  }

  const hub: Emitting<Events> = {
    on(name, listener) {
      emitter.on(name, guard(name, listener))
      return hub
    },
    once(name, listener) {
      emitter.once(name, guard(name, listener))
      return hub
    },
    off(name, listener) {
      emitter.off(name, guard(name, listener))
      return hub
    },
    isHeard: (name) => emitter.listenerCount(name) > 0,
    emit(name, payload) {
      // Frozen: what a listener is told may be what a store keeps.
      if (emitter.listenerCount(name) > 0) emitter.emit(name, Object.freeze(payload))
    },
  }
  return hub
}
