/** Runs what a button does: while it runs the button is disabled, and an error is shown with the id of its request. */
import { type Signal, useSignal } from '@preact/signals'
import { HookswitchClientError } from 'hookswitch/client'
import { notify } from './announce.js'
import { t } from './translate.js'

export interface Action {
  readonly isRunning: Signal<boolean>
  run(): Promise<void>
}

export function useAction(perform: () => Promise<void>): Action {
  const isRunning = useSignal(false)
  return {
    isRunning,
    async run() {
      if (isRunning.peek()) return
      isRunning.value = true
      try {
        await perform()
      } catch (thrown) {
        notify(describe(thrown), true)
      } finally {
        isRunning.value = false
      }
    },
  }
}

/** An error in the user's words, with the service's details. */
export function describe(thrown: unknown): string {
  if (!(thrown instanceof HookswitchClientError)) return t('error.unexpected')
  const { status, code, requestId } = thrown
  const isReading = thrown.message.startsWith('GET ')
  const details = thrown.message.replace(/^[A-Z]+ \S+: /, '')
  const id = requestId === undefined ? '' : ` (${requestId})`
  if (code === 'network') return t('error.network')
  if (code === 'timeout') return t('error.timeout')
  if (status === 401) return t('error.signedOut')
  if (status === 403) return t(isReading ? 'error.forbidden' : 'error.readOnly') + id
  if (status === 404) return t('error.notFound') + id
  if (status === 405 || status === 501) return t('error.notSupported') + id
  if (status === 429) return t('error.tooMany') + id
  // The page's own sentence about a value that it does not send.
  if (status === 400 && requestId === undefined) return details
  return t('error.service', { details }) + id
}
