/** What starts replays: the button for many deliveries, and the question for one. */
import { useSignal } from '@preact/signals'
import type { ReplayScope } from '../api/replays.js'
import { t } from '../state/translate.js'
import { lazy } from './lazy.js'

const ReplayDialog = lazy(
  async () => (await import('../screens/replay-dialog.js')).ReplayDialog,
  () => null,
)
const ReplayOneDialog = lazy(
  async () => (await import('../screens/replay-dialog.js')).ReplayOneDialog,
  () => null,
)

export function ReplayFailedButton(scope: ReplayScope) {
  const isOpen = useSignal(false)
  return (
    <>
      <button
        type="button"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {t('action.replayFailed')}
      </button>
      {isOpen.value && (
        <ReplayDialog
          {...scope}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}

interface Replayed {
  readonly webhookId: string
  readonly deliveryId: string
}

/** The question before one delivery is replayed: `ask` opens it, `dialog` belongs into the document. */
export function useReplayOne(accountId: string) {
  const asked = useSignal<Replayed | undefined>(undefined)
  return {
    ask(delivery: Replayed) {
      asked.value = delivery
    },
    dialog: asked.value && (
      <ReplayOneDialog
        {...asked.value}
        accountId={accountId}
        onClose={() => {
          asked.value = undefined
        }}
      />
    ),
  }
}
