/** The current screen, from the address. */
import { signal } from '@preact/signals'
import { formatRoute, parseRoute, type Route } from '../text/routes.js'
import { whenSaved } from './unsaved.js'

export const route = signal<Route>(parseRoute(location.hash))

addEventListener('hashchange', () => {
  const next = parseRoute(location.hash)
  const current = route.peek()
  const go = () => {
    route.value = next
  }
  if (formatRoute({ ...next, query: {} }) === formatRoute({ ...current, query: {} })) go()
  else whenSaved(go, () => history.replaceState(null, '', formatRoute(current)))
})

export function navigate(to: Parameters<typeof formatRoute>[0]): void {
  location.hash = formatRoute(to)
}

/** Changes the address without a new entry in the history. */
export function replaceRoute(to: Parameters<typeof formatRoute>[0]): void {
  history.replaceState(null, '', formatRoute(to))
  route.value = parseRoute(location.hash)
}

/** Changes fields of the query: for filters. An empty text removes a field. */
export function changeQuery(changes: Readonly<Record<string, string>>): void {
  const current = route.peek()
  replaceRoute({ ...current, query: { ...current.query, ...changes } })
}
