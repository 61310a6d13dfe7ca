/** The current screen, from the address. */
import { signal } from '@preact/signals'
import { formatRoute, parseRoute, type Route } from '../text/routes.js'
import { whenSaved } from './unsaved.js'

export const route = signal<Route>(parseRoute(location.hash))

/** Place of the current entry in the history of this page; each entry has its own in its state. */
let place = 0

const placeOf = (state: unknown): number | undefined => (state as { place?: number } | null)?.place

const stamp = (address?: string) => history.replaceState({ place }, '', address)

place = placeOf(history.state) ?? 0
stamp()

addEventListener('hashchange', () => {
  const next = parseRoute(location.hash)
  const current = route.peek()
  // A link has made a new entry.
  const nextPlace = placeOf(history.state) ?? place + 1
  const go = () => {
    place = nextPlace
    stamp()
    route.value = next
  }
  if (formatRoute({ ...next, query: {} }) === formatRoute({ ...current, query: {} })) go()
  else whenSaved(go, () => history.go(place - nextPlace))
})

export function navigate(to: Parameters<typeof formatRoute>[0]): void {
  location.hash = formatRoute(to)
}

/** Changes the address without a new entry in the history. */
export function replaceRoute(to: Parameters<typeof formatRoute>[0]): void {
  stamp(formatRoute(to))
  route.value = parseRoute(location.hash)
}

/** Changes fields of the query: for filters. An empty text removes a field. */
export function changeQuery(changes: Readonly<Record<string, string>>): void {
  const current = route.peek()
  replaceRoute({ ...current, query: { ...current.query, ...changes } })
}
