/** The current time as a signal, for relative times; it stands still while the tab is hidden. */
import { signal } from '@preact/signals'

export const nowMs = signal(Date.now())
export const isVisible = signal(document.visibilityState === 'visible')

document.addEventListener('visibilitychange', () => {
  isVisible.value = document.visibilityState === 'visible'
  if (isVisible.value) nowMs.value = Date.now()
})

setInterval(() => {
  if (isVisible.peek()) nowMs.value = Date.now()
}, 1_000)
