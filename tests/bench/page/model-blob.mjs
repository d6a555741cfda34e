/** The model file, fetched: what is timed afterwards reads memory. */
export async function modelBlob(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.blob();
}
