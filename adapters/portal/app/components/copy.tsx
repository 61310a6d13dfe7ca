/** Copies text. Where the browser gives no clipboard, as on plain HTTP, the text is shown and selected. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { notify } from '../state/announce.js'
import { t } from '../state/translate.js'
import { Button } from './button.js'
import { Dialog } from './dialog.js'

interface CopyButtonProps {
  readonly text: () => string
  /** Name of the button. */
  readonly label: string
  readonly size?: 'tiny'
  readonly kind?: 'quiet'
  /** What the button shows beside its icon. Default: its name; `false`: only the icon */
  readonly children?: ComponentChildren
}

export function CopyButton({ text, label, size, kind, children = label }: CopyButtonProps) {
  const shown = useSignal<string | undefined>(undefined)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      notify(t('copy.done'))
    } catch {
      shown.value = text()
    }
  }
  return (
    <>
      <Button
        icon="copy"
        kind={kind}
        size={size}
        label={children === label ? undefined : label}
        onClick={() => void copy()}
      >
        {children === false ? undefined : children}
      </Button>
      {shown.value !== undefined && (
        <Dialog
          title={label}
          onClose={() => {
            shown.value = undefined
          }}
        >
          <Selected text={shown.value} />
        </Dialog>
      )}
    </>
  )
}

function Selected({ text }: { readonly text: string }) {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    area.current!.focus()
    area.current!.select()
  }, [])
  return (
    <div class="stack">
      <p>{t('copy.byHand')}</p>
      <textarea ref={area} class="code" readOnly rows={8} aria-label={t('copy.text')} value={text} />
    </div>
  )
}
