/** What starts replays: the button for many deliveries, and the question for one. */
import { useSignal } from '@preact/signals'
import type { ReplayProposal, ReplayScope } from '../api/replays.js'
import { t } from '../state/translate.js'
import { Button } from './button.js'
import { lazy } from './lazy.js'

export const ReplayDialog = lazy(
  async () => (await import('../screens/replay-dialog.js')).ReplayDialog,
  () => null,
)
const ReplayOneDialog = lazy(
  async () => (await import('../screens/replay-dialog.js')).ReplayOneDialog,
  () => null,
)

interface ReplayFailedButtonProps extends ReplayScope, ReplayProposal {
  /** Default: without a count. */
  readonly text?: string
  readonly kind?: 'primary' | undefined
}

export function ReplayFailedButton({
  text = t('replay.failed'),
  kind,
  ...proposed
}: ReplayFailedButtonProps) {
  const isOpen = useSignal(false)
  return (
    <>
      <Button
        kind={kind}
        icon="replay"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {text}
      </Button>
      {isOpen.value && (
        <ReplayDialog
          {...proposed}
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
