/** Copies text. Where the browser gives no clipboard, as on plain HTTP, the text is shown and selected. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { notify } from '../state/announce.js'
import { t } from '../state/translate.js'
import { Dialog } from './dialog.js'

export function CopyButton({ text, label }: { readonly text: () => string; readonly label: string }) {
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
      <button type="button" onClick={() => void copy()}>
        {label}
      </button>
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
    <>
      <p>{t('copy.byHand')}</p>
      <textarea ref={area} readOnly rows={8} aria-label={t('copy.text')} value={text} />
    </>
  )
}
