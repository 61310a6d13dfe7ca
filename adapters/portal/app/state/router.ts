/** The current screen, from the address. */
import { signal } from '@preact/signals'
import { formatRoute, parseRoute, type Route } from '../text/routes.js'

export const route = signal<Route>(parseRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

export function navigate(to: Parameters<typeof formatRoute>[0]): void {
  location.hash = formatRoute(to)
}

/** Changes the address without a new entry in the history: for filters. */
export function replaceQuery(query: Readonly<Record<string, string>>): void {
  const next = { ...route.peek(), query }
  history.replaceState(null, '', formatRoute(next))
  route.value = parseRoute(location.hash)
}
